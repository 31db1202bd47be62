// Package lane parses and checks the files with which agent harnesses run jobs: workflows (Markdown with YAML front matter), and the
// records of jobs and campaigns. It checks each file by itself. It also finds the lane that fits a change, mostly from the paths that the change
// touches. It works on bytes and does no I/O.
package lane
