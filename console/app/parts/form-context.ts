import { createContext } from 'react'
import type { ValidationIssue } from '../../../generated/clients/typescript/models/platform.ts'

type FormState = {
  /** The fields that the server refused. */
  issues: readonly ValidationIssue[]
  /** True if the person may only read the form. Its texts can still be selected and copied. */
  isLocked: boolean
}

/** Tells a form's fields and buttons about the form. */
export const FormContext = createContext<FormState>({ issues: [], isLocked: false })
