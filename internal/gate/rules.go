package gate

// rules is the one list of rules, in documented order.
var rules = []Rule{
	ruleMissingArtifact,
	ruleNotAFile,
	ruleTooLarge,
	ruleYAML,
	ruleMultipleDocuments,
	ruleSchema,

	ruleBlank,
	ruleTimestampFormat,
	ruleTimestampOrder,
	ruleEvidence,
	ruleDuplicateID,
	ruleVersionQuoting,
	ruleRoundTrip,
	ruleSecret,
	ruleInsecureLink,
	ruleLayout,
	ruleTaskEvidence,
	ruleUnknownTask,
	ruleUnreconciledPlan,

	ruleWorkspace,
	ruleReplayID,
	ruleHandoffTask,
	ruleCompletedEvidence,
	ruleReplayMismatch,

	ruleModified,
	ruleDeleted,
	ruleReordered,
	ruleInserted,
	ruleLogDeleted,
	ruleTimestampMigrated,
	ruleTaskReassigned,
	ruleFutureTimestamp,
	ruleReconciledInsertion,

	ruleConcurrentAppend,
	ruleLostEntry,
	ruleUnreconciled,
	ruleForkRun,
	ruleForkPlan,
	ruleDoubleClaim,
	ruleInterleavedRuns,

	ruleHumanArtifact,
	ruleAgentID,

	ruleForeignLease,
	ruleMalformedLease,

	ruleReplayStale,

	ruleUnderClassified,
	ruleEscalated,
	ruleLaneEvidence,
	ruleQAPending,
	ruleUnknownLane,

	ruleWorkflowFrontMatter,
	ruleWorkflowUnknownKey,
	ruleWorkflowPhase,
	ruleWorkflowAgent,
	ruleWorkflowShape,
	ruleWorkflowCheckpoint,
	ruleWorkflowRewritten,
	ruleWorkflowHistory,
	ruleWorkflowCampaign,

	ruleConfigChanged,
	ruleWaiverUnused,
	ruleWaiverExpired,
	ruleBaselineMismatch,
	ruleMergeUnion,
}
