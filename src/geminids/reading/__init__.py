"""What readers of agents' files share: lines, JSONL, bundles, scanning, and where every byte went."""
