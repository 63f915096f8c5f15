"""Why a subject can or cannot read a document."""
