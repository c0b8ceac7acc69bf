import { type ComponentProps, type ReactNode, useContext, useId } from 'react'
import styles from './field.module.css'
import { FormContext } from './form-context.ts'

export type Labelled = { label: string; note?: ReactNode }
/** `name` is the field's name in the request, or the field's JSON pointer in the request's body. */
type Described = { note?: ReactNode; name?: string | undefined }
type FieldNames = { id: string; 'aria-describedby': string | undefined; 'aria-invalid'?: true }

/** Joins a field to its label, its note and its error, so a screen reader reads all four together. */
export function useFieldNames({ note, name }: Described): { field: FieldNames; below: ReactNode } {
  const id = useId()
  const { issues } = useContext(FormContext)
  const issue = name === undefined ? undefined : issues.find(({ path }) => path === name || path === `/${name}`)
  const ids = [note === undefined ? [] : `${id}-note`, issue ? `${id}-issue` : []].flat()
  return {
    field: {
      id,
      'aria-describedby': ids.length > 0 ? ids.join(' ') : undefined,
      ...(issue && { 'aria-invalid': true }),
    },
    below: (
      <>
        {note !== undefined && <small id={`${id}-note`}>{note}</small>}
        {issue && (
          <span id={`${id}-issue`} className={styles.issue}>
            {issue.message}
          </span>
        )}
      </>
    ),
  }
}

type FieldProps = Labelled & Described & { children: (names: FieldNames) => ReactNode }

/** Draws a field's label above the field, and its note and its error below. `children` draws the field. */
export function Field({ label, note, name, children }: FieldProps) {
  const { field, below } = useFieldNames({ note, name })
  return (
    <div className={styles.field}>
      <label htmlFor={field.id}>{label}</label>
      {children(field)}
      {below}
    </div>
  )
}

/** Asks for a text in one line. */
export function TextField({ label, note, ...rest }: ComponentProps<'input'> & Labelled) {
  const { isLocked } = useContext(FormContext)
  return (
    <Field label={label} note={note} name={rest.name}>
      {(names) => <input className={styles.input} readOnly={isLocked} {...names} {...rest} />}
    </Field>
  )
}

type Choice = { value: string; label: string }
type SelectProps = ComponentProps<'select'> & Labelled & { choices: readonly Choice[] }

/** Asks for one of few values. The browser's own list works with every keyboard and every phone. */
export function SelectField({ label, note, choices, ...rest }: SelectProps) {
  const { isLocked } = useContext(FormContext)
  return (
    <Field label={label} note={note} name={rest.name}>
      {(names) => (
        <select className={styles.input} disabled={isLocked} {...names} {...rest}>
          {choices.map(({ value, label: text }) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}
