"""Sources of files of many documents: tables, questions and conversations."""
