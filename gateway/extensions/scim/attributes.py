"""The attributes of users and groups that a filter may name, and their values."""

from gateway.extensions.scim.filters.filter_predicates import Attributes, Kind, Values
from gateway.extensions.scim.group_provisioning import GroupUser, ProvisionedGroup
from gateway.extensions.scim.user_provisioning import ProvisionedUser, UserEmail

EMAIL_PARTS = {"value": Kind.FOLDED_TEXT, "type": Kind.FOLDED_TEXT, "primary": Kind.BOOLEAN}
MEMBER_PARTS = {"value": Kind.TEXT, "display": Kind.FOLDED_TEXT, "type": Kind.FOLDED_TEXT}

# Of RFC 7643, section 4.1. Nearhit ignores them in a user, so a filter finds that it has none.
_UNKEPT = "nickname profileurl title usertype preferredlanguage locale timezone"
_UNKEPT_LISTS = "phonenumbers ims photos addresses groups entitlements roles x509certificates"
_NAME_PARTS = "formatted familyname givenname middlename honorificprefix honorificsuffix"

OF_USERS: Attributes = {
    **dict.fromkeys(_UNKEPT.split(), Kind.FOLDED_TEXT),
    **dict.fromkeys(_UNKEPT_LISTS.split(), EMAIL_PARTS),
    "name": dict.fromkeys(_NAME_PARTS.split(), Kind.FOLDED_TEXT),
    "username": Kind.FOLDED_TEXT,
    "externalid": Kind.TEXT,
    "id": Kind.TEXT,
    "active": Kind.BOOLEAN,
    "displayname": Kind.FOLDED_TEXT,
    "emails": EMAIL_PARTS,
    "meta": {
        "resourcetype": Kind.TEXT,
        "created": Kind.INSTANT,
        "lastmodified": Kind.INSTANT,
    },
}
OF_GROUPS: Attributes = {
    "displayname": Kind.FOLDED_TEXT,
    "externalid": Kind.TEXT,
    "id": Kind.TEXT,
    "members": MEMBER_PARTS,
    "meta": {"resourcetype": Kind.TEXT, "created": Kind.INSTANT},
}


def user_values(user: ProvisionedUser) -> Values:
    attributes = user.attributes
    return {
        "username": attributes.user_name,
        "externalid": attributes.external_id,
        "id": user.user_id,
        "active": attributes.is_active,
        "displayname": attributes.display_name,
        "emails": [email_values(email) for email in attributes.emails],
        "name": [{}],
        "meta": [
            {
                "resourcetype": "User",
                "created": user.created_at,
                "lastmodified": user.updated_at,
            }
        ],
    }


def group_values(group: ProvisionedGroup) -> Values:
    return {
        "displayname": group.name.display_name,
        "externalid": group.name.external_id,
        "id": group.scim_id,
        "members": [member_values(user) for user in group.users],
        "meta": [{"resourcetype": "Group", "created": group.created_at}],
    }


def email_values(email: UserEmail) -> Values:
    return {"value": email.value, "type": email.type, "primary": email.is_primary}


def member_values(user: GroupUser) -> Values:
    return {"value": user.user_id, "display": user.user_name, "type": "User"}
