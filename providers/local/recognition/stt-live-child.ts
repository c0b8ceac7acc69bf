/** The entry file for a process that recognizes several streams with Moonshine. Only fork starts it. */
import { openMoonshine } from './moonshine.ts'
import { serveStreams } from './serve-streams.ts'

serveStreams(openMoonshine)
