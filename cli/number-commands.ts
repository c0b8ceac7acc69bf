/** The commands for phone numbers: the numbers, their trunks, and the permission to buy. */
import { kyb } from './kyb.ts'
import { numbers } from './numbers.ts'
import { rmsg } from './rmsg.ts'
import { sipConnections } from './sip-connections.ts'
import { sms } from './sms.ts'

export const numberCommands = [numbers, sipConnections, kyb, rmsg, sms]
