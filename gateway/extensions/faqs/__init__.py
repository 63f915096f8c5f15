"""FAQs: questions and answers that admins keep; each is a document while it is active or not."""
