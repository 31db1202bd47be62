// Package lane knows the files with which agent harnesses run work in lanes: workflows (Markdown with YAML front matter), and the records
// of jobs and campaigns. It reads them from bytes, with positions, and says what is wrong with each one alone. It also finds the lane that
// fits a change, mostly from the paths that it touches. It does no I/O: the caller lists the files.
package lane
