/** Makes the store's parts for call recordings: their uploads and their deletion. */
import type { ExpiredRecordings } from '../../domain/calls/recording-retention.ts'
import type { UploadStore } from '../../domain/calls/recording-uploads.ts'
import { createExpiredRecordings } from './recording-retention.ts'
import { createUploadStore, type UploadStoreDeps } from './recording-uploads.ts'

export type RecordingRecords = { recordingUploads: UploadStore; expiredRecordings: ExpiredRecordings }

export function createRecordingRecords(deps: UploadStoreDeps): RecordingRecords {
  return {
    recordingUploads: createUploadStore(deps),
    expiredRecordings: createExpiredRecordings(deps.worlds, deps.clock),
  }
}
