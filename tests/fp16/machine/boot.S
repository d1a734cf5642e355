# The first sector of the disk, and what else needs assembly: the way from real mode to 64 bits, and
# the entries of exceptions and system calls. The BIOS loads this sector at 0x7C00. It reads the rest
# of the system behind itself, and the program to the addresses for which that was linked.

.set code64, 0x08
.set data, 0x10
.set code32, 0x18
.set task, 0x20

.set page_present_writable, 0x03
.set page_large, 0x80

    .section .boot, "ax"
    .code16
    .globl start
start:
    cli
    cld
    xor %ax, %ax
    mov %ax, %ds
    in $0x92, %al                       # addresses above 1 MiB (the A20 gate)
    and $0xFE, %al
    or $0x02, %al
    out %al, $0x92
    lgdt descriptors_pointer
    mov %cr0, %eax
    or $1, %al
    mov %eax, %cr0
    ljmp $code32, $in_32_bits

    .code32
in_32_bits:
    mov $data, %ax
    mov %ax, %ds
    mov %ax, %es
    mov %ax, %ss
    mov $system_stack_top, %esp
    mov $1, %ebx
    mov $system_sectors, %ecx
    mov $second_sector, %edi
    call read_sectors
    mov image_first_sector, %ebx
    mov image_sectors, %ecx
    mov image_address, %edi
    call read_sectors
    jmp to_64_bits

# Reads %ecx sectors from sector %ebx on to %edi, one at a time by the ports of the first disk.
read_sectors:
    jecxz 3f
1:  mov $0x1F2, %edx
    mov $1, %al                         # a sector
    out %al, %dx
    mov %ebx, %eax                      # 28 bits of its number
    inc %edx
    out %al, %dx
    shr $8, %eax
    inc %edx
    out %al, %dx
    shr $8, %eax
    inc %edx
    out %al, %dx
    shr $8, %eax
    and $0x0F, %al
    or $0xE0, %al
    inc %edx
    out %al, %dx
    inc %edx
    mov $0x20, %al                      # read
    out %al, %dx
2:  in %dx, %al                         # until it is not busy and has data
    and $0x88, %al
    cmp $0x08, %al
    jne 2b
    mov %ecx, %esi
    mov $256, %ecx
    mov $0x1F0, %edx
    rep insw
    mov %esi, %ecx
    inc %ebx
    dec %ecx
    jnz 1b
3:  ret

    .align 8
descriptors:
    .quad 0
    .quad 0x00AF9A000000FFFF            # code64
    .quad 0x00CF92000000FFFF            # data
    .quad 0x00CF9A000000FFFF            # code32
descriptor_of_task:
    .quad 0x0000890000000067, 0         # its address is filled in below
descriptors_end:
descriptors_pointer:
    .word descriptors_end - descriptors - 1
    .long descriptors

    .org 510
    .word 0xAA55

# What tests/fp16/image.py fills in: struct Program of system.cpp, and where the disk has it.
second_sector:
    .globl program
program:
    .quad 0, 0, 0                       # its entry, its program headers, their number
    .skip 104                           # its arguments
image_first_sector: .long 0
image_sectors: .long 0
image_address: .long 0

to_64_bits:
    mov $bss_begin, %edi
    mov $bss_end, %ecx
    sub %edi, %ecx
    xor %eax, %eax
    rep stosb
    # Virtual addresses are physical ones, for the first GiB in pages of 2 MiB.
    movl $page_pointers + page_present_writable, page_map
    movl $page_directory + page_present_writable, page_pointers
    mov $page_directory, %edi
    mov $page_large + page_present_writable, %eax
    mov $512, %ecx
1:  mov %eax, (%edi)
    add $0x200000, %eax
    add $8, %edi
    loop 1b
    mov $page_map, %eax
    mov %eax, %cr3
    mov %cr4, %eax
    or $0x40620, %eax                   # PAE, OSFXSR, OSXMMEXCPT, OSXSAVE
    mov %eax, %cr4
    mov $0xC0000080, %ecx               # EFER: long mode, the syscall instruction
    rdmsr
    or $0x101, %eax
    wrmsr
    mov %cr0, %eax
    and $~0x04, %eax                    # EM off
    or $0x80010022, %eax                # PG, WP, NE, MP
    mov %eax, %cr0
    ljmp $code64, $in_64_bits

    .code64
in_64_bits:
    mov $data, %ax
    mov %ax, %ds
    mov %ax, %es
    mov %ax, %ss
    mov $system_stack_top, %rsp
    fninit
    # Exceptions have a stack of their own: functions use memory below the stack pointer.
    mov $exception_stack_top, %rax
    mov %rax, task_state + 36
    mov $task_state, %rax
    mov %ax, descriptor_of_task + 2
    shr $16, %rax
    mov %al, descriptor_of_task + 4
    mov %ah, descriptor_of_task + 7
    mov $task, %ax
    ltr %ax
    call start_system                   # returns the program's stack
    mov %rax, %rsp
    mov program, %rax
    xor %edx, %edx                      # no function to call at exit
    xor %ebp, %ebp
    jmp *%rax

# System calls: the number is in rax, arguments in rdi, rsi, rdx; all registers but rax, rcx and r11
# are kept.
    .globl system_call_entry
system_call_entry:
    mov %rsp, program_stack
    mov $system_stack_top, %rsp
    push %rcx                           # where to return
    push %r11                           # flags
    push %rdi
    push %rsi
    push %rdx
    push %r8
    push %r9
    push %r10
    mov %rdx, %rcx
    mov %rsi, %rdx
    mov %rdi, %rsi
    mov %rax, %rdi
    call system_call
    pop %r10
    pop %r9
    pop %r8
    pop %rdx
    pop %rsi
    pop %rdi
    popfq
    pop %rcx
    mov program_stack, %rsp
    jmp *%rcx

# Exceptions: none is ever returned from. Those of some vectors come with a number for the error.
.macro exception vector
exception_\vector:
  .if \vector != 8 && (\vector < 10 || \vector > 14) && \vector != 17 && \vector != 21
    push $0
  .endif
    push $\vector
    jmp exceptions
.endm
.macro address vector
    .quad exception_\vector
.endm
.altmacro
.set number, 0
.rept 32
    exception %number
    .set number, number + 1
.endr
exceptions:
    pop %rdi                            # vector
    pop %rsi                            # error
    pop %rdx                            # where
    mov %cr2, %rcx
    and $-16, %rsp
    call exception_raised

    .section .rodata
    .align 8
    .globl exception_entries
exception_entries:
.set number, 0
.rept 32
    address %number
    .set number, number + 1
.endr

    .bss
    .align 4096
page_map: .skip 4096
page_pointers: .skip 4096
    .globl page_directory
page_directory: .skip 4096
task_state: .skip 104
program_stack: .skip 8
    .align 16
    .skip 16384
exception_stack_top:
    .skip 16384
system_stack_top:
    .section .note.GNU-stack, "", @progbits
