// Package finding holds what the gate has to say: findings, the report that lists them,
// and what a report keeps of very many.
package finding
