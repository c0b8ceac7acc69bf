/** The entry file for a process that recognizes recordings with Whisper. Only fork starts it. */
import { serveRecordings } from '../serve-recordings.ts'
import { folderArgument, openWhisper } from './open-whisper.ts'

const folder = folderArgument()
serveRecordings({ openModel: () => openWhisper(folder) })
