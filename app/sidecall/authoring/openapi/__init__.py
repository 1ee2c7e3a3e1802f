"""Operations of other people's OpenAPI services as tools."""
