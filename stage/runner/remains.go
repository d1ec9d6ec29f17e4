package runner

import (
	"io/fs"
	"path/filepath"

	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/internal/bucketurl"
	"github.com/alike-dev/alike/internal/filelock"
	"github.com/alike-dev/alike/vfs"
)

// removeRemains removes the unfinished files that killed tasks have left in folders: all of those between the objects
// of the plan, and those of its results. A task that runs once more at this time keeps its own. Nothing depends on what
// cannot be removed; in buckets nothing is left that has a name.
func removeRemains(p *Plan) {
	if !bucketurl.Is(p.Work) {
		objects := filepath.Join(bucketurl.LocalPath(p.Work), p.Digest)
		_ = filepath.WalkDir(objects, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				err = filelock.RemoveLeft(vfs.OS, path, func(string) bool { return true })
			}
			return err
		})
	}
	if bucketurl.Is(p.Output) {
		return
	}
	for dir, names := range resultFiles(p) {
		_ = filelock.RemoveLeft(vfs.OS, dir, func(hash string) bool { return names[hash] })
	}
}

// resultFiles returns the files of the results: their folders, and the hashes of their names.
func resultFiles(p *Plan) map[string]map[string]bool {
	folders := map[string]map[string]bool{}
	add := func(path string) {
		dir, name := filepath.Split(path)
		if folders[dir] == nil {
			folders[dir] = map[string]bool{}
		}
		folders[dir][filelock.Hash(name)] = true
	}
	output := bucketurl.LocalPath(p.Output)
	if !fillsFolder(p) {
		add(output)
		return folders
	}
	add(filepath.Join(output, dedup.SummaryFile))
	for _, list := range listsOf(p) {
		add(filepath.Join(output, list.name))
	}
	for _, f := range p.Files {
		add(filepath.Join(output, dedup.KeptFolder, filepath.FromSlash(f.Name)))
	}
	return folders
}
