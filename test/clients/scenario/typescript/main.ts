/** The scenario for TypeScript: prints a line for each step. */
import { faultSteps } from './faults.ts'
import { modelSteps } from './models.ts'
import { sessionSteps } from './session.ts'
import { socketSteps } from './sockets.ts'
import { webhookSteps } from './webhooks.ts'

for (const steps of [modelSteps, socketSteps, sessionSteps, webhookSteps, faultSteps])
  for (const [step, run] of Object.entries(steps)) console.log(JSON.stringify({ step, ...(await run()) }))
