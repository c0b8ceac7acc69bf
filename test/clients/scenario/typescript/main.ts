/** The test program for TypeScript: runs all steps and prints a line for each. */
import { faultSteps } from './faults.ts'
import { modelSteps } from './models.ts'
import { ruleSteps } from './rules.ts'
import { sessionSteps } from './session.ts'
import { socketFaultSteps } from './socket-faults.ts'
import { socketSteps } from './sockets.ts'
import { streamSteps } from './streams.ts'
import { webhookSteps } from './webhooks.ts'

const all = [modelSteps, socketSteps, sessionSteps, webhookSteps, faultSteps, streamSteps, socketFaultSteps, ruleSteps]
for (const steps of all)
  for (const [step, run] of Object.entries(steps)) console.log(JSON.stringify({ step, ...(await run()) }))
