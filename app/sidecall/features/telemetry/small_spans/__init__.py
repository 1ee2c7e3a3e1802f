"""Small spans of calls: serialized when the call ends, or turned into the SDK's spans when code accesses them."""
