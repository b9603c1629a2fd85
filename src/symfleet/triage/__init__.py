"""What becomes of crashes."""
