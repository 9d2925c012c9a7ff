package bound

import (
	"fmt"
	"io/fs"
)

// Walk visits a tree as [fs.WalkDir] does. Visit says whether a file will be read. A tree with more entries than are searched,
// or with more to read than may be, is an error.
func Walk(tree fs.FS, visit func(name string, d fs.DirEntry) (read bool, err error)) error {
	entries, bytes := 0, int64(0)
	return fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entries++; entries > Entries {
			return Over(Entries, "files and folders in it")
		}
		read, err := visit(name, d)
		if err != nil || !read {
			return err
		}
		if info, err := fs.Stat(tree, name); err == nil { // what cannot be looked at is reported when it is read
			bytes += info.Size()
		}
		if bytes > FolderBytes {
			return fmt.Errorf("the files to read in it have more than %s", Size(FolderBytes))
		}
		return nil
	})
}
