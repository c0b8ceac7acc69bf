/** The entry file for a process that recognizes several streams with Whisper. Only fork starts it. */
import { serveStreams } from '../serve-streams.ts'
import { folderArgument, openWhisper } from './open-whisper.ts'

const folder = folderArgument()
serveStreams(() => openWhisper(folder))
