/** The commands for phone numbers: the numbers, the trunks that they are reached over, and who may buy. */
import { kyb } from './kyb.ts'
import { numbers } from './numbers.ts'
import { rmsg } from './rmsg.ts'
import { sipConnections } from './sip-connections.ts'
import { sms } from './sms.ts'

export const numberCommands = [numbers, sipConnections, kyb, rmsg, sms]
