"""Why a server can't be followed.

FollowingFailed
├── ServerUnreachable   it may come back by itself
├── SourceMisconfigured  somebody has to change the server or the source; the message says what
└── CopyNeeded          the changes alone do not tell what is there
    └── SlotLost        nor does the slot have all of them
"""


class FollowingFailed(Exception):
    """The message is for an admin of the tenant, and quotes no row."""


class ServerUnreachable(FollowingFailed):
    pass


class SourceMisconfigured(FollowingFailed):
    pass


class CopyNeeded(FollowingFailed):
    pass


class SlotLost(CopyNeeded):
    pass
