"""What Gemini CLI deletes, hides and loads, and how sessions come back to it.

It is never started to find out.

| question | modules |
|---|---|
| what would a start delete? | `fates`, `cleaning`, `settings`, `retention` → `forecasting` |
| what would it list, load and hide? | `resume` → `releases`, `loading`, `deleting`, `offering`, `looking` |
| which release is installed? | `installed` |
| how does a kept session come back? | `restore` → `kept_files`, `apart`, `redating`, `claiming`: names and |
| | dates that the CLI's cleaning spares |
| what does it hide, why, and what shows it again? | `rescue` → `rescue_*` |
"""
