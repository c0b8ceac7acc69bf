/** Recordings for the holders of a presigned link. */
import type { StoredRecordings } from '../../domain/calls/stored-recordings.ts'
import { ResourceFault } from '../../domain/resource-fault.ts'
import type { InternalHandlers } from '../../generated/internal/handlers.ts'
import { audioAnswer } from '../platform/recordings.ts'

export type LinkedRecordings = Pick<StoredRecordings, 'linked'>

const fileName = /^([0-9a-f-]{36})\.wav$/

export function getLinkedRecording(recordings: LinkedRecordings): InternalHandlers<null>['getLinkedRecording'] {
  return async ({ path: { file }, query: { expires, signature }, header }) => {
    const id = fileName.exec(file)?.[1]
    if (id === undefined || expires === undefined || signature === undefined)
      throw new ResourceFault({ kind: 'not_found' })
    return audioAnswer(id, await recordings.linked(id, expires, signature), header)
  }
}
