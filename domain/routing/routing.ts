import type { Objective } from '../catalog/model.ts'

/** The caller's decision about the route. The two arms share no field. */
export type Routing =
  | { mode: 'auto'; objective: Objective; allowProviders?: readonly string[]; denyProviders?: readonly string[] }
  | { mode: 'explicit'; provider: string; model: string }
