/** Errors of the operating system in words; the code stays in, for those who look it up. */
const WORDS: { readonly [code: string]: string } = {
  EACCES: 'permission denied',
  EBUSY: 'it is in use',
  EEXIST: 'it exists already',
  EISDIR: 'it is a folder',
  ELOOP: 'its symbolic links lead in a circle',
  EMFILE: 'too many files are open',
  ENAMETOOLONG: 'the name is too long',
  ENOENT: 'it does not exist',
  ENOSPC: 'no space is left on the device',
  ENOTDIR: 'a part of the path is not a folder',
  EDQUOT: 'the disk quota is used up',
  EPERM: 'the operation is not permitted',
  EROFS: 'the file system is read-only',
};

export function systemErrorCode(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error)) return null;
  return typeof error.code === 'string' ? error.code : null;
}

export function systemErrorWords(error: unknown): string {
  const code = systemErrorCode(error);
  const words = code === null ? undefined : WORDS[code];
  if (words !== undefined) return `${words} (${code})`;
  return error instanceof Error ? error.message : String(error);
}
