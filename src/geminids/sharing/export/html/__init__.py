"""The pieces of HTML pages: what is safe to write, prose, code, tool calls, headings, the frame of a page."""
