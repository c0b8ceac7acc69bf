/** The commands for a server's configuration, database and state, and the mock server. */
import { config } from './config.ts'
import { database } from './database.ts'
import { doctor } from './doctor.ts'
import { drain } from './drain.ts'
import { mock } from './mock.ts'
import { ping } from './ping.ts'

export const serverCommands = [doctor, config, database, drain, ping, mock]
