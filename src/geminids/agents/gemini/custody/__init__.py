"""What Gemini CLI deletes, hides and loads, and how sessions come back to it.

It is never started to find out.

| question | modules |
|---|---|
| what would a start delete? | `read/fates`, `cleanup`, `settings`, `retention` → `forecast` |
| what would it list, load and hide? | `resume` → `session_files`, `releases`, `loaded_files`, |
| | `losses`, `offers`, `lookup` |
| which release is installed? | `installed` |
| how does a kept session come back? | `restore` → `kept_files`, `apart`, `new_dates`, `project_folder`: |
| | names and dates that the CLI's cleaning spares |
| what does it hide, why, and what shows it again? | `rescue` → `rescue_*` |
"""
