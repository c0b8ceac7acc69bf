/** The entry file for a process that recognizes recordings with Moonshine. Only fork starts it. */
import { alignedPlace } from './alignment.ts'
import { openMoonshine } from './moonshine.ts'
import { serveRecordings } from './serve-recordings.ts'

serveRecordings({ openModel: openMoonshine, align: alignedPlace })
