package dedup

import (
	"fmt"
	"os"
	"path/filepath"
)

// workDir is the folder for what does not fit in memory. It is made when the
// first file is asked for, so that a run below its memory budget never touches
// the disk, and its run-specific part is removed at the end.
type workDir struct {
	parent string // "" = the system's folder for temporary files
	path   string // "" until made
}

// folder returns the folder's path and makes it if need be.
func (d *workDir) folder() (string, error) {
	if d.path != "" {
		return d.path, nil
	}
	if d.parent != "" {
		if err := os.MkdirAll(d.parent, 0o755); err != nil {
			return "", fmt.Errorf("work folder: %w", err)
		}
	}
	path, err := os.MkdirTemp(d.parent, "alike-")
	if err != nil {
		return "", fmt.Errorf("work folder: %w", err)
	}
	d.path = path
	return path, nil
}

// create makes a new file for reading and writing.
func (d *workDir) create(name string) (*os.File, error) {
	path, err := d.folder()
	if err != nil {
		return nil, err
	}
	file, err := os.Create(filepath.Join(path, name))
	if err != nil {
		return nil, fmt.Errorf("work folder: %w", err)
	}
	return file, nil
}

// remove deletes the folder with all that is in it.
func (d *workDir) remove() error {
	if d.path == "" {
		return nil
	}
	return os.RemoveAll(d.path)
}
