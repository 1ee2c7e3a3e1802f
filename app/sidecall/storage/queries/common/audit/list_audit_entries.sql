SELECT number, id, tenant, at, action, subject, target, details, count
FROM audit_entries {where}
