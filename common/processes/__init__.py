"""Child processes with limits of memory and time that the operating system keeps."""
