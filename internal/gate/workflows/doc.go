// Package workflows makes subjects of workflow files and of the records of jobs and
// campaigns.
package workflows
