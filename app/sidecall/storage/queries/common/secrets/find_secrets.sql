SELECT tenant, caller, name, key_id, sealed
FROM caller_secrets {where}
