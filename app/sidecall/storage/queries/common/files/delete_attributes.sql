DELETE FROM file_attributes
WHERE member = $1
