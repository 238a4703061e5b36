"""Session files and chats as Gemini CLI itself writes them."""
