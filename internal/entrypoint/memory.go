package entrypoint

import (
	"os"
	"runtime/debug"
)

// softMemory is how many bytes a process may take before it collects its garbage
// more often. Otherwise what is being judged could take twice its room.
const softMemory = 640 << 20

// BoundMemory makes the process keep its memory small, unless the environment
// says how much it may take.
func BoundMemory() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(softMemory)
	}
}
