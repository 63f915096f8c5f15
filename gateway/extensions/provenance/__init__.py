"""Who stands behind a document: subjects ratify what agents and the web say, or keep it apart."""
