"""The web app in a real browser, over real homes of all agents."""
