import { configuredNumberOf, type WholeCallback } from '../../domain/records/callback.ts'
import type { Callback } from '../../generated/platform/types.ts'
import { pipelineConfig } from './pipeline-wire.ts'
import { timeOf, timeOrNull } from './times.ts'

export function wireCallback({ callback, pipeline, metadata, summary }: WholeCallback): Callback {
  return {
    id: callback.id,
    ...(callback.test && { test: true }),
    organization_id: callback.organizationId,
    source_session_id: callback.sourceSessionId,
    created_session_id: callback.createdSessionId,
    agent_id: callback.agentId,
    phone_number_id: callback.phoneNumberId ?? configuredNumberOf(pipeline) ?? null,
    to_number: callback.toNumber,
    from_number: callback.fromNumber,
    scheduled_at: timeOf(callback.scheduledAtMs),
    status: callback.status,
    reason: callback.reason,
    instructions: callback.instructions,
    summary,
    pipeline_config: pipelineConfig(pipeline),
    metadata,
    failure_cause: callback.failureCause,
    attempted_at: timeOrNull(callback.attemptedAtMs),
    dispatched_at: timeOrNull(callback.dispatchedAtMs),
    cancelled_at: timeOrNull(callback.cancelledAtMs),
    created_at: timeOf(callback.createdAtMs),
    updated_at: timeOf(callback.updatedAtMs),
  }
}
