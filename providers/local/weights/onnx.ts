import * as ort from 'onnxruntime-node'
import { withOutput } from './graph-output.ts'
import { readWeights, type WeightsName } from './weights.ts'

/** In a model file, field 1 in ModelProto (tag 0x08) is the format version. */
const irVersionTag = 0x08
const irVersionOfModels = 10
const irVersionOfRuntime = 9

/**
 * Each model uses one thread: on shared cores a second thread made Moonshine slower, so more processes are used
 * instead. Log severity 3 hides hundreds of optimiser warnings.
 */
const sessionOptions = { intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: 3 } as const

export type GraphOptions = {
  /** The value with this name inside the graph is returned as one more output. */
  output?: string
  /**
   * If false, the runtime keeps no memory plan for each input length. If inputs have many lengths, the plans take 20
   * to 40 MB.
   */
  enableMemPattern?: boolean
}

export async function openSession(name: WeightsName, options?: GraphOptions): Promise<ort.InferenceSession> {
  return sessionOf(await readWeights(name), options)
}

/** Opens a model file. Its bytes may be changed. */
export function sessionOf(bytes: Buffer, { output, ...memory }: GraphOptions = {}): Promise<ort.InferenceSession> {
  // The ONNX runtime refuses format version 10, although the models use only older operators. So the version is lowered
  // in memory.
  if (bytes[0] === irVersionTag && bytes[1] === irVersionOfModels) bytes[1] = irVersionOfRuntime
  return ort.InferenceSession.create(output === undefined ? bytes : withOutput(bytes, output), {
    ...sessionOptions,
    ...memory,
  })
}
