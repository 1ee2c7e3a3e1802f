-- Words of new pieces wait in a list, and go into the index many at once, which takes a third of the time. The list is
-- short, since each search reads it.
ALTER INDEX file_words_found SET (fastupdate = on, gin_pending_list_limit = 128);
