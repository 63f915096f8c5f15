"""What the text of a PDF needs: words without their hyphens, and the text of scanned pages."""
