/** Makes the store's repositories for call recordings: their uploads and their deletion. */
import type { ExpiredRecordings } from '../../domain/calls/recording-retention.ts'
import type { UploadStore } from '../../domain/calls/recording-uploads.ts'
import { createExpiredRecordings } from './recording-retention.ts'
import { createUploadStore, type UploadStoreDeps } from './recording-uploads.ts'

export type RecordingRecords = {
  recordingUploads: UploadStore
  expiredRecordings: ExpiredRecordings
  /** Resolves with true if the call's organization is disabled. The id must be a UUID. */
  isOfDisabled: (callId: string) => Promise<boolean>
}

export function createRecordingRecords(deps: UploadStoreDeps): RecordingRecords {
  return {
    recordingUploads: createUploadStore(deps),
    expiredRecordings: createExpiredRecordings(deps.worlds, deps.clock),
    isOfDisabled: (callId) =>
      deps.worlds.asOperator(async (tx) => {
        const rows = await tx`
          select from calls c join organizations o on o.id = c.organization_id where c.id = ${callId} and o.is_disabled`
        return rows.length > 0
      }),
  }
}
