"""Compiles C# without an SDK: Roslyn on a .NET runtime, driven by pythonnet. A warning is an error.

usage: python compile.py OUT.dll [--library] [--reference LIB.dll] FILE.cs...

The runtime is in the environment of this Python, and Roslyn in the folder node_modules beside this file. A program gets the file OUT.runtimeconfig.json beside it, so that `dotnet OUT.dll` runs it.
"""

import argparse
import glob
import json
import os
import sys
import tempfile
from pathlib import Path

# The contract describes some fields and arguments by their names alone, as Parley.csproj says.
MISSING_TEXTS = ("CS1573", "CS1591")
# Later compilers add warnings by level. This level has all.
WARNING_LEVEL = 9999

options = argparse.ArgumentParser()
options.add_argument("out")
options.add_argument("--library", action="store_true")
options.add_argument("--reference", action="append", default=[])
options.add_argument("files", nargs="+")
given = options.parse_args()

[dotnet] = glob.glob(f"{sys.prefix}/lib/python*/site-packages/dnv/net/runtime/.net")
roslyn = Path(__file__).parent / "node_modules/@autorest/csharp"
[version] = os.listdir(f"{dotnet}/shared/Microsoft.NETCore.App")
runtime = {"tfm": "net8.0", "framework": {"name": "Microsoft.NETCore.App", "version": version}}
config = json.dumps({"runtimeOptions": {**runtime, "configProperties": {"System.Globalization.Invariant": True}}})
with tempfile.NamedTemporaryFile("w", suffix=".json", delete=False) as file:
    file.write(config)

from clr_loader import get_coreclr
from pythonnet import set_runtime

set_runtime(get_coreclr(runtime_config=file.name, dotnet_root=dotnet))
os.unlink(file.name)
import clr

for name in ("Microsoft.CodeAnalysis", "Microsoft.CodeAnalysis.CSharp"):
    clr.AddReference(f"{roslyn}/{name}.dll")
import System
from Microsoft import CodeAnalysis
from Microsoft.CodeAnalysis import CSharp
from System.Collections.Generic import Dictionary, List


def references():
    """Returns the assemblies of the runtime, without its native libraries, and the given assemblies."""
    found = List[CodeAnalysis.MetadataReference]()
    for path in [*glob.glob(f"{dotnet}/shared/Microsoft.NETCore.App/*/*.dll"), *given.reference]:
        try:
            System.Reflection.AssemblyName.GetAssemblyName(path)
        except System.BadImageFormatException:
            continue
        found.Add(CodeAnalysis.MetadataReference.CreateFromFile(path))
    return found


def trees():
    parsing = CSharp.CSharpParseOptions.Default.WithLanguageVersion(CSharp.LanguageVersion.CSharp10)
    # The documentation is checked too.
    parsing = parsing.WithDocumentationMode(CodeAnalysis.DocumentationMode.Diagnose)
    parsed = List[CodeAnalysis.SyntaxTree]()
    for path in given.files:
        parsed.Add(CSharp.CSharpSyntaxTree.ParseText(Path(path).read_text(encoding="utf-8"), parsing, path))
    return parsed


def settings():
    hidden = Dictionary[System.String, CodeAnalysis.ReportDiagnostic]()
    for code in MISSING_TEXTS:
        hidden[code] = CodeAnalysis.ReportDiagnostic.Suppress
    kind = CodeAnalysis.OutputKind
    made = CSharp.CSharpCompilationOptions(kind.DynamicallyLinkedLibrary if given.library else kind.ConsoleApplication)
    made = made.WithNullableContextOptions(CodeAnalysis.NullableContextOptions.Enable)
    made = made.WithWarningLevel(WARNING_LEVEL)
    return made.WithGeneralDiagnosticOption(CodeAnalysis.ReportDiagnostic.Error).WithSpecificDiagnosticOptions(hidden)


compilation = CSharp.CSharpCompilation.Create(Path(given.out).stem, trees(), references(), settings())
stream = System.IO.FileStream(given.out, System.IO.FileMode.Create)
result = compilation.Emit(stream)
stream.Close()
for diagnostic in result.Diagnostics:
    if str(diagnostic.Severity) == "Error":
        print(diagnostic.ToString(), file=sys.stderr)
Path(given.out).with_suffix(".runtimeconfig.json").write_text(config)
sys.exit(0 if result.Success else 1)
