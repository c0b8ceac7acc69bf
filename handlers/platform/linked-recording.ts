/**
 * Serves recordings behind a presigned link. The operation belongs to the internal API, but its errors have the
 * platform API's form.
 */
import type { StoredRecordings } from '../../domain/calls/stored-recordings.ts'
import { ResourceFault } from '../../domain/records/resource-fault.ts'
import type { InternalHandlers } from '../../generated/internal/handlers.ts'
import type { FaultWriter } from '../../runtime/engine/handler.ts'
import type { SurfaceSettings } from '../surface.ts'
import { createPlatformFaultWriter } from './faults.ts'
import { audioAnswer } from './recordings.ts'

type LinkedRecordings = Pick<InternalHandlers<null>, 'getLinkedRecording'> & { writeFault: FaultWriter }

export function linkedRecordings(
  { log, count }: SurfaceSettings,
  recordings: Pick<StoredRecordings, 'linked'>,
): LinkedRecordings {
  return { getLinkedRecording: getLinkedRecording(recordings), writeFault: createPlatformFaultWriter(log, count) }
}

const fileName = /^([0-9a-f-]{36})\.wav$/

function getLinkedRecording(
  recordings: Pick<StoredRecordings, 'linked'>,
): InternalHandlers<null>['getLinkedRecording'] {
  return async ({ path: { file }, query: { expires, signature }, header }) => {
    const id = fileName.exec(file)?.[1]
    if (id === undefined || expires === undefined || signature === undefined)
      throw new ResourceFault({ kind: 'not_found' })
    return audioAnswer(id, await recordings.linked(id, expires, signature), header)
  }
}
