package embedded

import (
	"os"
	"path/filepath"
	"strings"
)

// indexBytes is about how many bytes of a pack's index there are for each
// object: its id, its checksum and its offset.
const indexBytes = 28

// PackedObjects is about how many objects are in packs, judged by the sizes of
// their indexes. What cannot be seen is not counted: this is no more than an
// estimate of what a walk costs.
func (r *Repo) PackedObjects() int64 {
	var bytes int64
	for _, dir := range r.objects.dirs {
		entries, err := os.ReadDir(filepath.Join(dir, "pack"))
		if err != nil {
			continue
		}
		for _, entry := range entries {
			if !strings.HasSuffix(entry.Name(), ".idx") {
				continue
			}
			if info, err := entry.Info(); err == nil {
				bytes += info.Size()
			}
		}
	}
	return bytes / indexBytes
}
