// `ctrl_c COMMAND LINE`: starts a program in a console of its own, presses Ctrl-C there once the program has written the file
// `started`, and says how the program ended.
// `ctrl_c --wait`: that program, or one that it starts: writes the file and waits.

#include <stdio.h>
#include <string.h>
#include <windows.h>

static BOOL WINAPI outlive(DWORD kind) {
    (void)kind;
    return TRUE;
}

int main(int count, char **arguments) {
    if (count == 2 && strcmp(arguments[1], "--wait") == 0) {
        fclose(fopen("started", "w"));
        Sleep(60000);
        return 3;
    }
    char line[4096] = "";
    for (int at = 1; at < count; at++) {
        strcat(strcat(line, at > 1 ? " " : ""), arguments[at]);
    }
    FreeConsole();
    AllocConsole();
    SetConsoleCtrlHandler(outlive, TRUE);
    STARTUPINFOA start = {.cb = sizeof start};
    // What it prints goes where this program's output goes, not to the console.
    start.dwFlags = STARTF_USESTDHANDLES;
    SECURITY_ATTRIBUTES inherited = {.nLength = sizeof inherited, .bInheritHandle = TRUE};
    start.hStdOutput = CreateFileA("ctrl_c.out", GENERIC_WRITE, FILE_SHARE_READ, &inherited, CREATE_ALWAYS, 0, NULL);
    start.hStdError = start.hStdOutput;
    PROCESS_INFORMATION process;
    if (!CreateProcessA(NULL, line, NULL, NULL, TRUE, 0, NULL, NULL, &start, &process)) {
        printf("%s cannot be started: %lu\n", line, GetLastError());
        return 2;
    }
    for (int tenths = 0; tenths < 600 && GetFileAttributesA("started") == INVALID_FILE_ATTRIBUTES; tenths++) {
        Sleep(100);
    }
    Sleep(500);
    GenerateConsoleCtrlEvent(CTRL_C_EVENT, 0);
    if (WaitForSingleObject(process.hProcess, 30000) != WAIT_OBJECT_0) {
        printf("it still runs 30 s after Ctrl-C\n");
        return 1;
    }
    DWORD code;
    GetExitCodeProcess(process.hProcess, &code);
    printf("ended with 0x%lx\n", code);
    return 0;
}
