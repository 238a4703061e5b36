"""What is drawn on a terminal, whoever draws: the command line into its output, the browser onto its screen.

| module | what is in it |
|---|---|
| `screen` | what the output goes to: colour or not, how wide |
| `styles` | how words look, by the names of their styles |
| `page` | lines, words, Markdown and tables, laid out for a terminal or plain for a pipe |
| `story` | a session as a story: who said what, what each tool did |
| `companions`, `marks` | what lies beside a session, and what the user said of it |
| `stats_tables`, `stats_charts` | figures: a heading, a table that adds up, notes; bars and calendars |
| `number_tables` | tables of numbers that fit |
| `projects`, `keeping` | projects in few words; what is kept, and what will be deleted |
| `amounts` | dollars |
| `wrapping` | sentences in lines, in which commands stay whole |
"""
