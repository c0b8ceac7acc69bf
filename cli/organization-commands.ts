/** The commands for who may use a server: its organizations, their API keys and their people. */
import { keys } from './keys.ts'
import { org } from './org.ts'
import { users } from './users.ts'

export const organizationCommands = [keys, org, users]
