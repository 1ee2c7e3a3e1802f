"""Operations of HTTP services as tools, made of their OpenAPI documents."""
