SELECT id, args, NULL FROM calls {where}
